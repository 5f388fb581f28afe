package replay

import "io"

// WrapJournal lets a test stand between the operation and the file of its journal.
func (o *Operation) WrapJournal(wrap func(io.WriteCloser) io.WriteCloser) {
	o.wrap = func(j *Journal) { j.file = wrap(j.file) }
}
