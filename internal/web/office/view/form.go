package view

// Choice is an option of a select, or a box to tick.
type Choice struct {
	Value, Label string
	Chosen       bool
}

// Question is a field of a form that asks for something.
type Question struct{ Value, Fault string }

// Fault is something wrong, for the summary above a form. Name is the id of the field
// that it is about.
type Fault struct{ Name, Fault string }
