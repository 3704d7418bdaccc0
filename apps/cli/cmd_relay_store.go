package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/relay/serve"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/archive"
	"github.com/scorel/scorel/apps/relay/store/storeurl"
)

// storeFlags say which store a relay keeps its state in.
type storeFlags struct{ url, dataDir string }

// add gives --store no default: help would print the secret that it may hold.
func (f *storeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "store", "", "store of the relay: postgres://user:password@host/database or sqlite:FILE ("+storeurl.EnvVar+", which other users of this machine do not see)")
	cmd.Flags().StringVar(&f.dataDir, "data-dir", "", "folder of the relay's SQLite file, when no store is named (default: relay in the home folder)")
}

// storeURL returns the store that a command was told to use. It is a secret. A
// folder alone does not overrule the variable: an image may name the one and its
// user the other.
func (a *app) storeURL(f storeFlags) (string, error) {
	url := cmp.Or(f.url, a.getenv(storeurl.EnvVar))
	if url != "" {
		if err := storeurl.Check(url); err != nil {
			return "", usagef("%v", err)
		}
		return url, nil
	}
	folder, err := a.relayFolder(f)
	return serve.DefaultStore(folder), err
}

// relayFolder is where a relay keeps files.
func (a *app) relayFolder(f storeFlags) (string, error) {
	if f.dataDir != "" {
		return f.dataDir, nil
	}
	home, err := a.home()
	return filepath.Join(home, "relay"), err
}

func newRelayStore(a *app) *cobra.Command {
	return group("store", "Look after what a relay keeps: devices, clients, who may reach whom",
		"  scorel relay store check\n  scorel relay store export | scorel relay store import --store postgres://scorel:secret@db/relay",
		newStoreMigrate(a), newStoreCheck(a), newStoreExport(a), newStoreImport(a))
}

func newStoreMigrate(a *app) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store's schema to what this program needs",
		Long: `Brings the store's schema to what this program needs. A relay does the same when
it starts; this is for those who want it done before. Any number of programs may
migrate one store at once: one does it, the others wait.`,
		Example: "  scorel relay store migrate --store postgres://scorel:secret@db/relay",
		Args:    argCount(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.storeMigrate(cmd.Context(), f) },
	}
	f.add(cmd)
	return cmd
}

func (a *app) storeMigrate(ctx context.Context, f storeFlags) error {
	return a.withStore(ctx, f, func(st storeurl.Archive) error { // opening it migrates
		version, _, err := st.Schema(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "%s has schema version %d\n", st.Place, version)
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
		Short: "Tell whether the store can be reached, is up to date and is sound",
		Long: `Connects to the store, compares its schema with what this program needs, and reads
every row: whether keys belong to their ids, whether every binding has both ends,
whether limits hold. It changes nothing. It fails if anything is wrong.`,
		Example: "  scorel relay store check --json",
		Args:    argCount(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.storeCheck(cmd.Context(), f, asJSON) },
	}
	f.add(cmd)
	addJSON(cmd, &asJSON)
	return cmd
}

func (a *app) storeCheck(ctx context.Context, f storeFlags, asJSON bool) (err error) {
	st, err := a.connectStore(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	report, err := archive.Check(ctx, st)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(a.stdout, report)
	} else {
		_, err = fmt.Fprintf(a.stdout, "%s\nschema %d of %d\n%s, %d of the bindings ended\n",
			st.Place, report.Schema, report.Needed, describe(report.Counts), report.Revoked)
		for _, problem := range report.Problems {
			fmt.Fprintf(a.stdout, "problem: %s\n", printable(problem))
		}
	}
	if n := len(report.Problems); err == nil && n > 0 {
		err = fmt.Errorf("the store is not sound: %d of its problems are listed above", n)
	}
	return err
}

func (a *app) connectStore(ctx context.Context, f storeFlags) (storeurl.Archive, error) {
	url, err := a.storeURL(f)
	if err != nil {
		return storeurl.Archive{}, err
	}
	return storeurl.Connect(ctx, url)
}

func describe(c store.Counts) string {
	return fmt.Sprintf("%d devices, %d clients, %d bindings, %d events, %d invites", c.Devices, c.Clients, c.Bindings, c.Events, c.Invites)
}
