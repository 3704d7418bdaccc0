package api

// Requests that describe the host and its projects.
var (
	GetHost       = Define[Empty, GetHostResponse]("get_host", GrantView, "Describes the host, its models and the permissions of this connection.", Shown)
	ListPaths     = Define[Empty, ListPathsResponse]("list_paths", GrantView, "Lists the paths to this device, with a proof of the binding for the client that asks.", Shown)
	Leave         = Define[Empty, Empty]("leave", GrantView, "Ends the access of the paired client that asks, on all paths.", Shown)
	ListProjects  = Define[Empty, ListProjectsResponse]("list_projects", GrantView, "Lists the projects.", Shown)
	AddProject    = Define[AddProjectRequest, AddProjectResponse]("add_project", GrantManage, "Adds a folder of the host as a project; the same folder yields the same project.")
	RemoveProject = Define[RemoveProjectRequest, Empty]("remove_project", GrantManage, "Removes a project that has no sessions. The folder itself is kept.", Named)
	TrustProject  = Define[TrustProjectRequest, TrustProjectResponse]("trust_project", GrantManage, "Enables a folder's own settings, skills and MCP servers, or disables them again.", Named)
	ListDir       = Define[ListDirRequest, ListDirResponse]("list_dir", GrantManage, "Lists the folders in a folder of the host.")
)

func hostRequests() []Spec {
	return []Spec{
		GetHost.Spec(),
		ListPaths.Spec(),
		Leave.Spec(),
		ListProjects.Spec(),
		AddProject.Spec(),
		RemoveProject.Spec(),
		TrustProject.Spec(),
		ListDir.Spec(),
	}
}

// Requests about the running host itself.
var (
	NameHost    = Define[NameHostRequest, Empty]("name_host", GrantLocal, "Sets the name of the host's machine that others see; its connections to relays are made again.", Concurrently)
	StopHost    = Define[Empty, Empty]("stop_host", GrantLocal, "Stops the host cleanly.")
	PauseHost   = Define[PauseHostRequest, Empty]("pause_host", GrantLocal, "Waits until no turn runs, and begins nothing new for half a minute, so that the host can be replaced.", Concurrently)
	ResumeHost  = Define[Empty, Empty]("resume_host", GrantLocal, "Ends the pause of a host that is not replaced after all. Repeating it changes nothing.")
	RestartHost = Define[Empty, Empty]("restart_host", GrantLocal, "Stops a host that is paused cleanly, and executes its program again in the same process.")
)

func ownRequests() []Spec {
	return []Spec{
		NameHost.Spec(),
		StopHost.Spec(),
		PauseHost.Spec(),
		ResumeHost.Spec(),
		RestartHost.Spec(),
	}
}
