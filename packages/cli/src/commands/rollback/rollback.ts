/** `weft rollback`: deploys an earlier build. */
import type { Build } from "@weft/client"
import { Effect, Option, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { diffEntryPoints } from "../../deployment/Changes.ts"
import { changeLines } from "../../deployment/DeploymentText.ts"
import { makeManifestReader } from "../../deployment/ManifestReader.ts"
import { getDeployedBuild, readDeployedEntryPoints, readStoredEntryPoints } from "../../deployment/ProjectBuilds.ts"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { localTime } from "../../output/Times.ts"
import { readProject } from "../../project/Project.ts"
import { requireConfirmation } from "../deploy/Confirmation.ts"
import { confirm, dryRun } from "../deploy/deploy.ts"

const buildId = Argument.String("build").pipe(
  Argument.withDescription("The id of a build; by default the previously deployed one"),
  Argument.optional
)

export const rollback = Command.make(
  "rollback",
  { buildId, confirm, dryRun },
  Effect.fnUntraced(function* ({ buildId, confirm, dryRun }) {
    const output = yield* Output
    const api = yield* Api
    const { url } = yield* api.target
    const { name } = yield* readProject
    const deployed = yield* getDeployedBuild(name)
    const build = yield* Option.match(buildId, {
      onNone: () => findPreviousBuild(name, deployed),
      onSome: (id) => api.request((weft, options) => weft.builds.get(name, id, options))
    })
    yield* output.status("comparing…")
    const reader = yield* makeManifestReader
    const [before, after] = yield* Effect.all([
      readDeployedEntryPoints(reader, name, deployed),
      readStoredEntryPoints(reader, name, build)
    ])
    const changes = diffEntryPoints(before, after)
    const facts = { project: name, build_id: build.build_id, hash: build.hash, size: build.size, changes }
    yield* output.note(`${output.paint.bold(name)} at ${url}, back to the build of ${localTime(build.created_at)}`)
    yield* output.note(changes.length === 0 ? "  same triggers" : changeLines(changes, output.paint).join("\n"))
    if (dryRun) return yield* output.print({ deployed: false, ...facts }, () => "Nothing was done: --dry-run")
    if (confirm) yield* requireConfirmation(`Roll ${name} back at ${url}?`)
    yield* api.request((weft, options) => weft.builds.deploy(name, build.build_id, {}, options))
    yield* output.print(
      { deployed: true, ...facts },
      () => `${output.paint.green("deployed")} ${build.build_id}, instead of ${deployed?.build_id ?? "no build"}`
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription("Deploy the previously deployed build, or another one"),
  Command.withExamples([
    { command: "weft rollback", description: "Undo the last deployment; repeat it to redo the deployment" },
    { command: "weft rollback --dry-run", description: "Show what would change" }
  ])
)

/** Returns the previously deployed build. Only deployments change `updated_at`, so it is the time of the last one. */
const findPreviousBuild = Effect.fnUntraced(function* (project: string, deployed: Build | null) {
  const { stream } = yield* Api
  const builds = yield* Stream.runCollect(stream((weft, options) => weft.builds.list(project, {}, options)))
  const [newest] = builds
    .filter(({ build_id, created_at, updated_at }) => build_id !== deployed?.build_id && updated_at > created_at)
    .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
  return (
    newest ??
    (yield* failure(
      "no_former_build",
      `No other build of ${project} has been deployed`,
      "name any uploaded build: `weft rollback <build>`"
    ))
  )
})
