package api

// Requests about the providers and models that are saved beside config.toml.
var (
	SaveProvider    = Define[SaveProviderRequest, ProviderResponse]("save_provider", GrantManage, "Adds or changes a model provider, which the host uses from the next call on.", Concurrently)
	RemoveProvider  = Define[RemoveProviderRequest, Empty]("remove_provider", GrantManage, "Removes a saved model provider that no model uses, and its key.", Concurrently)
	SaveModel       = Define[SaveModelRequest, SavedModelResponse]("save_model", GrantManage, "Adds or changes a model of a provider.", Concurrently)
	RemoveModel     = Define[RemoveModelRequest, Empty]("remove_model", GrantManage, "Removes a saved model.", Concurrently)
	SetDefaultModel = Define[SetDefaultModelRequest, DefaultModelResponse]("set_default_model", GrantManage, "Chooses the model for new sessions.", Concurrently)
	TestModel       = Define[TestModelRequest, TestModelResponse]("test_model", GrantManage, "Makes one small call with a model.", Concurrently)
)

func modelRequests() []Spec {
	return []Spec{
		SaveProvider.Spec(),
		RemoveProvider.Spec(),
		SaveModel.Spec(),
		RemoveModel.Spec(),
		SetDefaultModel.Spec(),
		TestModel.Spec(),
	}
}
