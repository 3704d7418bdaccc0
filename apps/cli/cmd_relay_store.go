package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/relay/serve"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/archive"
	"github.com/scorel/scorel/apps/relay/store/storeurl"
)

// storeFlags select the store of a relay.
type storeFlags struct{ url, dataDir string }

// add gives --store no default, because help would print the secret that it may contain.
func (f *storeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "store", "", "store of the relay: postgres://user:password@host/database or sqlite:FILE ("+storeurl.EnvVar+", which other users of this machine cannot see)")
	cmd.Flags().StringVar(&f.dataDir, "data-dir", "", "folder of the relay's SQLite file, if --store is not given (default: relay in SCOREL_HOME)")
}

// location returns the selected store. It is a secret. A folder flag alone does not
// override the variable: a container image may set the folder and its user the variable.
func (f *storeFlags) location(env *environment) (string, error) {
	url := cmp.Or(f.url, env.getenv(storeurl.EnvVar))
	if url != "" {
		if err := storeurl.Check(url); err != nil {
			return "", usagef("%v", err)
		}
		return url, nil
	}
	folder, err := f.folder(env)
	return serve.DefaultStore(folder), err
}

// folder returns the folder for a relay's files.
func (f *storeFlags) folder(env *environment) (string, error) {
	if f.dataDir != "" {
		return f.dataDir, nil
	}
	home, err := env.home()
	return filepath.Join(home, "relay"), err
}

func newRelayStore(a *app) *cobra.Command {
	return group("store", "Check, export, import and migrate the store of a relay",
		"  scorel relay store check\n  scorel relay store export | scorel relay store import --store postgres://scorel:secret@db/relay",
		newStoreMigrate(a), newStoreCheck(a), newStoreExport(a), newStoreImport(a))
}

func newStoreMigrate(a *app) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the store to the current schema",
		Long: `Migrate the store to the schema of this version. A relay does the same when it starts.
Several programs may migrate one store at the same time: one does the work, the others
wait.`,
		Example: "  scorel relay store migrate --store postgres://scorel:secret@db/relay",
		Args:    argCount(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return migrateStore(cmd.Context(), a.stdout, a.env, f) },
	}
	f.add(cmd)
	return cmd
}

func migrateStore(ctx context.Context, stdout io.Writer, env *environment, f storeFlags) error {
	return f.open(ctx, env, func(st storeurl.Archive) error { // opening the store migrates it
		version, _, err := st.Schema(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(stdout, "%s has schema version %d\n", st.Place, version)
		return err
	})
}

func newStoreCheck(a *app) *cobra.Command {
	var (
		f      storeFlags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the store",
		Long: `Connect to the store, compare its schema with the one that this version needs, and check
every row: that keys belong to their ids, that bindings have both ends, and that limits
hold. Nothing is changed. The command fails if anything is wrong.`,
		Example: "  scorel relay store check --json",
		Args:    argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return checkStore(cmd.Context(), a.stdout, a.env, f, asJSON)
		},
	}
	f.add(cmd)
	addJSON(cmd, &asJSON)
	return cmd
}

func checkStore(ctx context.Context, stdout io.Writer, env *environment, f storeFlags, asJSON bool) (err error) {
	st, err := f.connect(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	report, err := archive.Check(ctx, st)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(stdout, report)
	} else {
		_, err = fmt.Fprintf(stdout, "%s\nschema %d of %d\n%s, %d of the bindings ended\n",
			st.Place, report.Schema, report.Needed, describe(report.Counts), report.Revoked)
		for _, problem := range report.Problems {
			fmt.Fprintf(stdout, "problem: %s\n", printable(problem))
		}
	}
	if n := len(report.Problems); err == nil && n > 0 {
		err = fmt.Errorf("the store has problems: %d are listed above", n)
	}
	return err
}

func (f *storeFlags) connect(ctx context.Context, env *environment) (storeurl.Archive, error) {
	url, err := f.location(env)
	if err != nil {
		return storeurl.Archive{}, err
	}
	return storeurl.Connect(ctx, url)
}

func describe(c store.Counts) string {
	return fmt.Sprintf("%d devices, %d clients, %d bindings, %d events, %d invites", c.Devices, c.Clients, c.Bindings, c.Events, c.Invites)
}
