package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/archive"
	"github.com/scorel/scorel/apps/relay/store/storeurl"
)

func newStoreExport(a *app) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Export the store as JSON lines",
		Long: `Write a consistent export of devices, clients, bindings, the audit log and invites to FILE
or to standard output. The relay may keep running. The export contains no secret keys, no
invite codes and no messages, but it shows who may reach whom: protect it like the store.`,
		Example: "  scorel relay store export relay.jsonl",
		Args:    argCount(0, 1, "at most one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return exportStore(cmd.Context(), a.console, a.env, f, fileArg(args))
		},
	}
	f.add(cmd)
	return cmd
}

// fileArg returns the file argument; "-" means none.
func fileArg(args []string) string {
	if len(args) == 0 || args[0] == "-" {
		return ""
	}
	return args[0]
}

func exportStore(ctx context.Context, con console, env *environment, f storeFlags, file string) (err error) {
	st, err := f.connect(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	have, need, err := st.Schema(ctx)
	if err == nil && have != need {
		err = fmt.Errorf("%w: %s has version %d, but this version of scorel needs %d: see `scorel relay store check`", store.ErrSchema, st.Place, have, need)
	}
	if err != nil {
		return err
	}
	var wrote store.Counts
	if file == "" {
		wrote, err = archive.Export(ctx, st, con.stdout)
	} else {
		wrote, err = exportFile(ctx, st, file)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(con.stderr, "exported %s\n", describe(wrote))
	return nil
}

// exportFile creates a file, and removes it on failure.
func exportFile(ctx context.Context, st store.Archive, path string) (store.Counts, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return store.Counts{}, sayf(err, "%s already exists: remove it, or choose another name", path)
	}
	if err != nil {
		return store.Counts{}, fmt.Errorf("writing the export: %w", err)
	}
	wrote, err := archive.Export(ctx, st, file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return store.Counts{}, errors.Join(err, os.Remove(path))
	}
	return wrote, nil
}

func newStoreImport(a *app) *cobra.Command {
	var (
		f      storeFlags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "import [FILE]",
		Short: "Merge an export into the store",
		Long: `Merge an export from FILE or standard input into the store, which may be empty or in use.
The import is atomic, and repeating it changes nothing. Of two states of a binding the
later one wins, so revoked clients stay revoked. Invites keep their remaining uses; two
relays with the same invite count its uses separately.

A relay that uses the store sees imported bindings when a device or client logs in again:
stop it first, or restart it afterward.`,
		Example: `  scorel relay store import relay.jsonl
  scorel relay store export | scorel relay store import --store postgres://scorel:secret@db/relay`,
		Args: argCount(0, 1, "at most one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return importStore(cmd.Context(), a.console, a.env, f, fileArg(args), asJSON)
		},
	}
	f.add(cmd)
	addJSON(cmd, &asJSON)
	return cmd
}

func importStore(ctx context.Context, con console, env *environment, f storeFlags, file string, asJSON bool) (err error) {
	url, err := f.location(env)
	if err != nil {
		return err
	}
	in := con.stdin
	switch {
	case file != "":
		opened, err := os.Open(file)
		if err != nil {
			return sayf(err, "the export %s cannot be read (%v): give a file that `scorel relay store export` wrote", printable(file), reason(err))
		}
		defer opened.Close()
		in = opened
	case terminal.IsTerminal(con.stdin):
		return usagef("there is no export to read: give a file, or pipe one in")
	}
	st, err := storeurl.Open(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	read, changed, err := archive.Import(ctx, st, terminal.Interruptible(ctx, in))
	if err != nil {
		return fmt.Errorf("nothing was imported: %w", err)
	}
	if asJSON {
		return printJSON(con.stdout, struct {
			Read    store.Counts `json:"read"`
			Changed store.Counts `json:"changed"`
		}{read, changed})
	}
	_, err = fmt.Fprintf(con.stdout, "read %s\nnew or changed in %s: %s\n", describe(read), st.Place, describe(changed))
	return err
}
