/** `weft release`: releases a build from quarantine. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { getDeployedBuild } from "../../deployment/ProjectBuilds.ts"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { readProject } from "../../project/Project.ts"

const buildId = Argument.String("build").pipe(
  Argument.withDescription("The id of a build; by default the deployed one"),
  Argument.optional
)

export const release = Command.make(
  "release",
  { buildId },
  Effect.fnUntraced(function* ({ buildId }) {
    const output = yield* Output
    const api = yield* Api
    const { name } = yield* readProject
    const build_id = Option.isSome(buildId) ? buildId.value : yield* deployedId(name)
    yield* api.request((weft, options) => weft.builds.release(name, build_id, options))
    yield* output.print(
      { released: true, project: name, build_id },
      () => `${output.paint.green("released")} ${build_id}`
    )
  })
).pipe(
  Command.withDescription("Release a build from quarantine, so that it runs again"),
  Command.withExamples([
    { command: "weft release", description: "Run the deployed build again after its runs failed with Quarantined" }
  ])
)

const deployedId = Effect.fnUntraced(function* (project: string) {
  const deployed = yield* getDeployedBuild(project)
  if (deployed !== null) return deployed.build_id
  return yield* failure("not_found", `No build of ${project} is deployed`, "name a build: `weft release <build>`")
})
