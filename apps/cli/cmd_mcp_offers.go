package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// mcpOffer is a resource or prompt of a server. Exactly one of Resource and Prompt is set.
type mcpOffer struct {
	Use      string           `json:"use"` // how a prompt of a person names it
	Resource *api.MCPResource `json:"resource,omitempty"`
	Prompt   *api.MCPPrompt   `json:"prompt,omitempty"`
}

func newMCPOffers(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "offers",
		Short: "List the resources and prompts of a project's MCP servers",
		Long: `List what the MCP servers of a project offer besides tools. A prompt with the word
@SERVER:URI attaches a resource; one that begins with /mcp__SERVER__NAME calls a prompt, with
its arguments in order or as NAME=VALUE. Allowed servers are started; one that needs more
than five seconds is not in the list. With --json, each line is one resource or prompt.`,
		Example: "  scorel mcp offers\n  scorel mcp offers --project ~/code/site --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	project := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := project.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }() // everything was received
		of, err := project.find(cmd.Context(), c)
		if err != nil {
			return err
		}
		response, err := client.Call(cmd.Context(), c, api.ListMCPOffers, api.ListMCPOffersRequest{ProjectID: of.ID})
		if err != nil {
			return err
		}
		return printList(a.stdout, asJSON, offersOf(response), listing[mcpOffer]{
			none:   "there are no resources or prompts: `scorel mcp list` shows the state of the servers",
			header: []string{"USE", "WHAT"},
			row:    offerRow,
		})
	}
	return cmd
}

func offersOf(response api.ListMCPOffersResponse) []mcpOffer {
	all := []mcpOffer{}
	for i := range response.Resources {
		r := &response.Resources[i]
		all = append(all, mcpOffer{Use: "@" + r.Server + ":" + r.URI, Resource: r})
	}
	for i := range response.Prompts {
		p := &response.Prompts[i]
		all = append(all, mcpOffer{Use: "/" + p.Command, Prompt: p})
	}
	return all
}

func offerRow(_ int, o mcpOffer) []string {
	if r := o.Resource; r != nil {
		return []string{o.Use, clip(cmp.Or(r.Title, r.Name, r.Description), 100)}
	}
	use := o.Use
	for _, argument := range o.Prompt.Arguments {
		word := argument.Name + "="
		if !argument.Required {
			word = "[" + word + "]"
		}
		use += " " + word
	}
	return []string{use, clip(cmp.Or(o.Prompt.Title, o.Prompt.Description, o.Prompt.Name), 100)}
}
