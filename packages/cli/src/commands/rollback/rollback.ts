/** `weft rollback`: deploys an older build again. */
import type { Build } from "@weft/client"
import { Effect, Option, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { changesOf } from "../../deployment/Changes.ts"
import { makeReader } from "../../deployment/Reading.ts"
import { deployedBuild, offerOfDeployed, offerOfStored } from "../../deployment/Servers.ts"
import { tellChanges } from "../../deployment/Telling.ts"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { localTime } from "../../output/Times.ts"
import { readProject } from "../../project/Project.ts"
import { consent } from "../deploy/Consent.ts"
import { confirm, dryRun } from "../deploy/deploy.ts"

const wanted = Argument.String("build").pipe(
  Argument.withDescription("The id of a build; by default the one that was deployed before"),
  Argument.optional
)

export const rollback = Command.make(
  "rollback",
  { wanted, confirm, dryRun },
  Effect.fnUntraced(function* ({ wanted, confirm, dryRun }) {
    const output = yield* Output
    const api = yield* Api
    const { url } = yield* api.target
    const { name } = yield* readProject
    const deployed = yield* deployedBuild(name)
    const build = yield* Option.match(wanted, {
      onNone: () => deployedBefore(name, deployed),
      onSome: (id) => api.ask((weft, asking) => weft.builds.get(name, id, asking))
    })
    yield* output.status("comparing…")
    const reader = yield* makeReader
    const [before, after] = yield* Effect.all([
      offerOfDeployed(reader, name, deployed),
      offerOfStored(reader, name, build)
    ])
    const changes = changesOf(before, after)
    const facts = { project: name, build_id: build.build_id, hash: build.hash, size: build.size, changes }
    yield* output.note(`${output.paint.bold(name)} at ${url}, back to the build of ${localTime(build.created_at)}`)
    yield* output.note(changes.length === 0 ? "  the same triggers" : tellChanges(changes, output.paint).join("\n"))
    if (dryRun) return yield* output.print({ deployed: false, ...facts }, () => "Nothing was done: --dry-run")
    if (confirm) yield* consent(`Roll ${name} back at ${url}?`)
    yield* api.ask((weft, asking) => weft.builds.deploy(name, build.build_id, asking))
    yield* output.print(
      { deployed: true, ...facts },
      () => `${output.paint.green("deployed")} ${build.build_id}, instead of ${deployed?.build_id ?? "none"}`
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription("Deploy the build that was deployed before, or another one"),
  Command.withExamples([
    { command: "weft rollback", description: "Undo the last deployment; a second time, undo that" },
    { command: "weft rollback --dry-run", description: "See what would change" }
  ])
)

/** A deployment is the only thing that changes a build after its upload, so that `updated_at` is the time of its last one. */
const deployedBefore = Effect.fnUntraced(function* (project: string, deployed: Build | null) {
  const { all } = yield* Api
  const builds = yield* Stream.runCollect(all((weft, asking) => weft.builds.list(project, {}, asking)))
  const [newest] = builds
    .filter(({ build_id, created_at, updated_at }) => build_id !== deployed?.build_id && updated_at > created_at)
    .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
  return (
    newest ??
    (yield* failure(
      "no_former_build",
      `No other build of ${project} was ever deployed`,
      "`weft rollback <build>` takes any that was uploaded"
    ))
  )
})
