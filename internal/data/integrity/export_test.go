package integrity

var ScrubSlowly = scrubSlowly
