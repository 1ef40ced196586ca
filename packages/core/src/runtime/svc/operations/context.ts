/** `svc.context`: the secrets of the project. */
import { Effect, Schema } from "effect"
import { ProjectSecrets } from "../../../resources/secrets/ProjectSecrets.ts"
import { ofRun, operation } from "../Operation.ts"

export const contextGet = operation({
  name: "context.get",
  input: Schema.Struct({ key: Schema.String }),
  output: Schema.NullOr(Schema.String),
  permission: ofRun,
  span: "internal",
  guest: {
    doc: "Returns a secret of the project, or null.",
    parameters: [{ name: "key", is: "string" }],
    takes: "a string, the key"
  },
  needs: ProjectSecrets,
  handler:
    (projectSecrets) =>
    (run, { key }, secrets) =>
      Effect.tap(projectSecrets.get(run.env_id, run.project_id, key), (value) =>
        Effect.sync(() => void (value === null || secrets.add(value)))
      )
})

export const contextAll = operation({
  name: "context.all",
  input: Schema.Struct({}),
  output: Schema.Record(Schema.String, Schema.String),
  permission: ofRun,
  span: "internal",
  guest: { doc: "Returns all secrets of the project, by key.", parameters: [], takes: "no arguments" },
  needs: ProjectSecrets,
  handler: (projectSecrets) => (run, _, secrets) =>
    Effect.map(projectSecrets.all(run.env_id, run.project_id), (values) => {
      for (const value of values.values()) secrets.add(value)
      return Object.fromEntries(values)
    })
})
