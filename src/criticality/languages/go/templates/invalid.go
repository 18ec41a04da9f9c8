// ErrInvalid is wrapped by what a constructor returns for a value that breaks a constraint.
var ErrInvalid = errors.New("invalid value")
