package guard

// Save saves a lost database as Run does.
var Save = (*Guard).save
