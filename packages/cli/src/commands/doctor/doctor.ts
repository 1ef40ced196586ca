/** `weft doctor`: checks a whole installation and prints what to do. */
import { Clock, Duration, Effect, Result } from "effect"
import { Command } from "effect/cli"
import manifest from "../../../package.json" with { type: "json" }
import { Api } from "../../connection/Api.ts"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import type { Paint } from "../../output/Paint.ts"
import { printable } from "../../output/Printable.ts"
import {
  type Check,
  checkClocks,
  checkLatency,
  checkNode,
  checkTransport,
  checkVersions,
  toFailedCheck
} from "./ClientChecks.ts"

/** Runs all checks. Those of the server need its admin token. */
const runChecks = Effect.gen(function* () {
  const api = yield* Api
  const { url } = yield* api.target
  const local = [checkNode(process.versions.node), checkTransport(url)]
  const reached = yield* Effect.result(Effect.timed(api.requestPublic((status, options) => status.get(options))))
  if (Result.isFailure(reached)) return [...local, toFailedCheck("server", reached.failure)]
  const [latency, { version }] = reached.success
  const latencyMs = Duration.toMillis(latency)
  const known = [...local, checkLatency(url, latencyMs), checkVersions(version, manifest.version)]
  const diagnosed = yield* Effect.result(api.requestAdmin((admin, options) => admin.getDiagnosis(options)))
  if (Result.isFailure(diagnosed)) return [...known, toFailedCheck("admin-token", diagnosed.failure)]
  const { time, checks } = diagnosed.success
  const received = yield* Clock.currentTimeMillis
  return [...known, checkClocks(Date.parse(time), received - latencyMs / 2), ...checks]
})

export const doctor = Command.make(
  "doctor",
  {},
  Effect.fnUntraced(function* () {
    const output = yield* Output
    yield* output.status("Checking…")
    const checks = yield* Effect.ensuring(runChecks, output.status(null))
    yield* output.print(checks, () => checkLines(checks, output.paint).join("\n"))
    const failed = checks.filter(({ status }) => status === "failure")
    const warnings = checks.filter(({ status }) => status === "warning")
    if (failed.length > 0) {
      return yield* failure("checks_failed", `${failed.length} of ${checks.length} checks failed`)
    }
    yield* output.note(`${checks.length} checks, ${warnings.length} warnings`)
  })
).pipe(
  Command.withDescription("Check a server and the way to it, and print remedies; needs the server's admin token"),
  Command.withExamples([
    { command: "weft doctor --profile production", description: "The exit code is 1 if a check fails" }
  ])
)

/** Returns a line per check, each followed by its remedy. */
const checkLines = (checks: ReadonlyArray<Check>, paint: Paint): ReadonlyArray<string> => {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const colours = { ok: paint.green, warning: paint.yellow, failure: paint.red }
  return checks.flatMap(({ name, status, seen, remedy }) => {
    const line = `${colours[status](status.padEnd(7))}  ${printable(name).padEnd(width)}  ${printable(seen)}`
    return remedy === null ? [line] : [line, `${" ".repeat(width + 11)}${paint.dim("hint")}  ${printable(remedy)}`]
  })
}
