package fault

import (
	"context"
	"errors"
	"io/fs"
)

var fileRules = Table{
	{ID: "file.missing", Reason: ReasonNotFound, Class: ClassPermanent,
		Match: func(_ context.Context, err error) bool {
			return errors.Is(err, fs.ErrNotExist) && !socketMissing(err)
		}},
}
