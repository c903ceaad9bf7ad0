package history

// Queries are those that read the table of changes.
var Queries = []string{feedSQL, editsSQL, laterSQL, sinceSQL}
