/** `weft canary`: shows the canary of the project, promotes it or rolls it back. */
import type { Canary } from "@weft/client"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { localTime } from "../../output/Times.ts"
import { readProject } from "../../project/Project.ts"

const print = Effect.fnUntraced(function* (found: Canary) {
  const output = yield* Output
  yield* output.print(found, () => canaryLines(found).join("\n"))
})

const show = Effect.gen(function* () {
  const { name } = yield* readProject
  const api = yield* Api
  yield* print(yield* api.request((weft, options) => weft.canaries.get(name, options)))
})

const promote = Command.make(
  "promote",
  {},
  Effect.fnUntraced(function* () {
    const { name } = yield* readProject
    const api = yield* Api
    yield* print(yield* api.request((weft, options) => weft.canaries.promote(name, options)))
  })
).pipe(
  Command.withDescription("Make the active canary the deployed build"),
  Command.withExamples([{ command: "weft canary promote" }])
)

const rollback = Command.make(
  "rollback",
  {},
  Effect.fnUntraced(function* () {
    const { name } = yield* readProject
    const api = yield* Api
    yield* print(yield* api.request((weft, options) => weft.canaries.rollback(name, options)))
  })
).pipe(
  Command.withDescription("End the active canary; the deployed build gets everything again"),
  Command.withExamples([{ command: "weft canary rollback" }])
)

export const canary = Command.make("canary", {}, () => show).pipe(
  Command.withDescription("Show the latest canary of the project, with the runs of both builds"),
  Command.withExamples([{ command: "weft canary" }, { command: "weft canary promote" }]),
  Command.withSubcommands([promote, rollback])
)

const canaryLines = (found: Canary): ReadonlyArray<string> => {
  const { state, build_id, base_build_id, settings, window_ends_at, reason, counts } = found
  return [
    `${state.replace("_", " ")}  ${build_id}, ${percent(settings.share)} next to ${base_build_id}`,
    ...(state === "active" ? [`  the rules decide at ${localTime(window_ends_at)}`] : []),
    ...(reason === null ? [] : [`  ${reason}`]),
    `  canary  ${describeSide(counts.canary)}`,
    `  base    ${describeSide(counts.base)}`
  ]
}

const describeSide = ({ runs, failures, failure_share, p95_ms }: Canary["counts"]["base"]): string =>
  `${runs} runs, ${failures} failed (${percent(failure_share)})${p95_ms === null ? "" : `, p95 ${p95_ms} ms`}`

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`
