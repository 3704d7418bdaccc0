package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// errNotProven reports that a log does not prove what was required.
var errNotProven = errors.New("the log proves less than it should")

func newSessionVerify(a *app) *cobra.Command {
	var (
		asJSON   bool
		file     string
		contains string
		signedBy []string
	)
	cmd := &cobra.Command{
		Use:   "verify ID | verify --file PATH",
		Short: "Verify that a session was not changed, and list its approvals",
		Long: `Verify the hash chain of a session, its signed heads, and the signatures of answered
approvals. The exit code is 0 if the chain holds and 1 if not; the first wrong line is
reported. --file verifies a session file without a host.

A session without a chain, of Pi or of an older version, proves nothing and fails. A log
whose newest lines were removed still has a valid chain. Keep the chain value that this
command prints, and pass it to --contains later: a log without it fails.`,
		Example: "  scorel session verify ID\n  scorel session verify --file session.jsonl --signed-by dev_... --json",
		Args:    argCount(0, 1, "the id of one session, or --file"),
	}
	to := a.targetFlag(cmd)
	cmd.Flags().StringVar(&file, "file", "", "check this session file instead of a session of the host")
	cmd.Flags().StringArrayVar(&signedBy, "signed-by", nil, "fail unless the session is signed, and by these devices only; may be repeated")
	cmd.Flags().StringVar(&contains, "contains", "", "fail unless the log contains this chain value, which an earlier verification printed")
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (len(args) == 1) == cmd.Flags().Changed("file") {
			return usagef("which session? Give its id, or --file PATH")
		}
		signers, err := deviceIDs(signedBy)
		if err != nil {
			return err
		}
		known, err := chainValues(contains)
		if err != nil {
			return err
		}
		var p api.Proof
		if file != "" {
			p, err = proofOfFile(file, known)
		} else {
			p, err = proofOf(cmd.Context(), to, api.VerifySessionRequest{SessionID: args[0], Contains: contains})
		}
		if err != nil {
			return err
		}
		if asJSON {
			err = printJSON(a.stdout, p)
		} else {
			err = printProof(a.stdout, p)
		}
		return errors.Join(err, judgeProof(p, signers))
	}
	return cmd
}

func deviceIDs(texts []string) (ids []ident.ID, err error) {
	for _, text := range texts {
		id, err := ident.ParseDeviceID(text)
		if err != nil {
			return nil, usagef("--signed-by: %q is not the id of a device, which begins with dev_", text)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// chainValues parses the value of --contains, which may be empty.
func chainValues(text string) ([]session.ChainValue, error) {
	if text == "" {
		return nil, nil
	}
	value, err := session.ParseChainValue(text)
	if err != nil {
		return nil, usagef("--contains: %q is not a chain value: give the 43 characters that an earlier verification printed", text)
	}
	return []session.ChainValue{value}, nil
}

func proofOfFile(path string, known []session.ChainValue) (api.Proof, error) {
	data, err := readRegular(path)
	var why *fs.PathError
	switch {
	case errors.Is(err, errNotRegular):
		return api.Proof{}, sayf(err, "%s is not a regular file: give the path of a session file", path)
	case errors.As(err, &why):
		return api.Proof{}, sayf(err, "%s cannot be read: %v", path, why.Err)
	case err != nil:
		return api.Proof{}, sayf(err, "%s cannot be read: %v", path, err)
	}
	return proof.Check(data, known...), nil
}

func proofOf(ctx context.Context, to *target, request api.VerifySessionRequest) (api.Proof, error) {
	c, err := to.connect(ctx)
	if err != nil {
		return api.Proof{}, err
	}
	defer func() { _ = c.Close() }() // everything was received
	response, err := client.Call(ctx, c, api.VerifySession, request)
	return response.Proof, err
}

// judgeProof returns the error that the command ends with.
func judgeProof(p api.Proof, signers []ident.ID) error {
	if !p.Holds {
		return sayf(errNotProven, "not proven: %s", firstProblem(p))
	}
	if len(signers) == 0 {
		return nil
	}
	if len(p.Heads) == 0 {
		return sayf(errNotProven, "not proven: no head of the session is signed")
	}
	for _, h := range p.Heads {
		if !slices.Contains(signers, h.DeviceID) {
			return sayf(errNotProven, "not proven: heads are signed by %s, from line %d on", h.DeviceID, h.First)
		}
	}
	return nil
}

func firstProblem(p api.Proof) string {
	if len(p.Problems) == 0 {
		return "no reason was given"
	}
	return p.Problems[0].What
}

func printProof(w io.Writer, p api.Proof) error {
	verdict := "holds"
	if !p.Holds {
		verdict = "does not hold"
	}
	if p.From > 0 {
		fmt.Fprintf(w, "Session %s: the chain %s from line %d to %d.\n", printable(p.SessionID), verdict, p.From, p.Lines)
	} else {
		fmt.Fprintf(w, "Session %s: no chain in %d lines.\n", printable(p.SessionID), p.Lines)
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(w, "  problem: %s\n", printable(problem.What))
	}
	if p.MoreProblems > 0 {
		fmt.Fprintf(w, "  and %d more problems\n", p.MoreProblems)
	}
	for _, h := range p.Heads {
		fmt.Fprintf(w, "Signed by %s: %d heads, lines %d to %d, the last at %s.\n", h.DeviceID, h.Count, h.First, h.Last, printable(h.LastAt))
	}
	for _, m := range p.Moves {
		fmt.Fprintf(w, "Handed over in line %d, at %s: from %s, which signed it, to %s.\n", m.Line, printable(m.At), printable(m.From), printable(m.To))
	}
	if p.Chain != "" {
		fmt.Fprintf(w, "Newest chain value: %s\n", printable(p.Chain))
	}
	if p.Unsigned > 0 {
		fmt.Fprintf(w, "Lines after the last head: %d.\n", p.Unsigned)
	}
	return printApprovals(w, p)
}

func printApprovals(w io.Writer, p api.Proof) error {
	if len(p.Approvals) == 0 {
		return nil
	}
	if p.EarlierApprovals > 0 {
		fmt.Fprintf(w, "Earlier approvals that are not listed: %d.\n", p.EarlierApprovals)
	}
	var rows [][]string
	for _, approval := range p.Approvals {
		rows = append(rows, []string{
			fmt.Sprint(approval.Line), approval.At, string(approval.Decision), deciderOf(approval), signatureOf(approval),
			clip(approval.ToolName+": "+approval.Title, 60),
		})
	}
	return printTable(w, []string{"LINE", "TIME", "DECISION", "BY", "SIGNATURE", "WHAT"}, rows)
}

func deciderOf(approval api.ProofApproval) string {
	if approval.Label == "" {
		return approval.DecidedBy
	}
	return fmt.Sprintf("%s (%s)", approval.DecidedBy, approval.Label)
}

func signatureOf(approval api.ProofApproval) string {
	switch {
	case approval.Released:
		return "none: a rule or mode"
	case approval.Signer.IsZero():
		return "not signed"
	case approval.Signer.String() == approval.DecidedBy:
		return "good, " + time.UnixMilli(approval.SignedAt).UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("good, %s, by %s", time.UnixMilli(approval.SignedAt).UTC().Format(time.RFC3339), approval.Signer)
}

// noteProof reports problems of an imported file's chain. A file without a chain is
// accepted.
func noteProof(w io.Writer, name string, p *api.Proof) {
	if p == nil || p.From == 0 || p.Holds {
		return
	}
	fmt.Fprintf(w, "warning: %s was changed after it was written: %s\n", printable(name), printable(firstProblem(*p)))
}
