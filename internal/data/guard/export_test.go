package guard

// Save saves a lost database, like Run.
var Save = (*Guard).save

// Look checks the files once and returns what happened to them.
func Look(g *Guard) string { return g.look().what }
