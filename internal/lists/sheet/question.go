package sheet

import "github.com/firefighter-records/firefighters/internal/text/calendar"

// Question is a choice that a list leaves to people. Package imports has the messages.
type Question struct {
	Kind    string
	Columns []string // headers of the columns concerned
	// Rows are the rows that wait for the answer, by number. They are undecided until then. Without
	// Rows, the question concerns columns or the whole list, and nothing can be imported before the
	// answer.
	Rows    []int
	Changes map[int]bool // numbers of the only rows that an answer changes; nil: unknown
	Args    []any        // of the message, as in a Note
	Options []Option
	Answer  string // value of an option; empty: open. A question with a default is never open.
}

// Option is a possible answer to a question.
type Option struct {
	Value   string
	Example any // what the list then means, as in the arguments of a Note; nil: none
}

// Blocks reports whether nothing can be imported before the answer.
func (q Question) Blocks() bool { return q.Answer == "" && len(q.Rows) == 0 }

// AskEncoding is the kind of the question for the encoding. Its answers are Encodings.
const AskEncoding = "encoding"

// Answers are the answers to questions, by kind.
type Answers map[string]string

// Examples are texts from a file, shown in quotation marks.
type Examples []string

// ReadDay is a text from a file and the day that it means.
type ReadDay struct {
	Text string
	Day  calendar.Date
}
