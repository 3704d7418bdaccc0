package file_test

func systemChildren() map[string]func(args []string) error {
	return map[string]func(args []string) error{}
}
