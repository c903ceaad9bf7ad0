package record

import "time"

// Patch is a merge patch (RFC 7396) of a record: the fields that change.
type Patch struct {
	fields Fields // normalized
	given  map[string]int
}

// DecodePatch reads the JSON object of a merge patch, by the rules of Decode. A
// member that is null or empty clears its field. The error is a BodyError, or
// FieldErrors with everything that is wrong.
func DecodePatch(body []byte, now time.Time) (Patch, error) {
	f, given, errs, err := decode(body)
	if err != nil {
		return Patch{}, err
	}
	normal, all := f.Normalize(now)
	var faults FieldErrors
	for _, fault := range all {
		if given[fault.Field] > 0 {
			faults = append(faults, fault)
		}
	}
	errs.Merge(faults)
	return Patch{normal, given}, errs.Err()
}

// Merge returns the fields of a record with the patch. What the patch does not
// name stays as it is.
func (p Patch) Merge(f Fields) Fields {
	for _, d := range fields {
		if p.given[d.Name] > 0 {
			*d.of(&f) = *d.of(&p.fields)
		}
	}
	return f
}
