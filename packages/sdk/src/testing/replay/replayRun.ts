/** Replays a recorded run in a plain test, with the functions of a project. */
import type { AnyFunction, Caller, RunFacts, Svc } from "../../Svc.ts"
import { execute, type RunOutcome } from "../Execution.ts"
import { listFunctions, type Project } from "../exported.ts"
import { toFailure } from "../failures.ts"
import type { Contents } from "../MemoryFiles.ts"
import { makeContext } from "../makeContext.ts"
import { jsonText, toReply } from "../responses.ts"
import { toFakes } from "../TestHost.ts"
import { describeDifference } from "./compare.ts"
import { joinPieces, RecordedAnswers, toFields } from "./RecordedAnswers.ts"
import type { RecordedRun, ReplayedRun } from "./RecordedRun.ts"

/** Operations of `svc` that are answered from the recording. Those of files and assets read its contents. */
const answered = [
  ...["context.get", "context.all", "events.publish", "call", "schedules.create", "schedules.cancel", "stream.emit"],
  ...["mcp.log", "mcp.progress", "mcp.sample", "mcp.elicit", "mcp.updated"]
]

/**
 * Runs the function of a recorded run with its input. Host calls are answered from the recording: nothing leaves the test.
 *
 * Calls of each operation are compared in their order, but for those of files and assets. The sandbox of `weft replay`
 * compares the order of all calls.
 */
export const replayRun = async (project: Project, recording: RecordedRun): Promise<ReplayedRun> => {
  const fn = listFunctions(project).get(recording.fn)
  if (fn === undefined) throw new TypeError(`The project exports no function ${recording.fn}`)
  const answers = new RecordedAnswers(recording)
  const fakes = (ops: ReadonlyArray<string>, prefix = "") =>
    Object.fromEntries(
      ops.map((op) => [op.slice(prefix.length), (input: unknown) => answers.answer(op, input ?? null)])
    )
  const hostCalls = [...new Set(recording.calls.map(({ op }) => op).filter((op) => op.startsWith("host.")))]
  const context = {
    ...makeContext({
      functions: project,
      files: readContents(recording, "files.open", "path"),
      assets: readContents(recording, "asset.open", "name"),
      fetch: (request) => answers.fetch(request)
    }),
    host: toFakes(fakes(hostCalls, "host.")),
    svc: toFakes(fakes(answered))
  }
  const { run, caller, ...facts } = readFacts(recording)
  const body = (svc: Svc): Promise<unknown> => callFunction(fn, recording, { ...facts }, svc)
  const { ending } = await execute(context, { run, caller, facts, signal: undefined, body })
  const replayed = toEnd(ending)
  return { ...replayed, difference: answers.difference ?? findDifference(recording, answers, replayed) }
}

interface Facts {
  readonly run: RunFacts
  readonly caller: Caller | null
  readonly [fact: string]: unknown
}

/** Returns the facts of the run. A recording has those that the runtime made. */
const readFacts = ({ svc, body }: RecordedRun): Facts => {
  const facts: Facts = JSON.parse(JSON.stringify({ caller: null, ...svc }))
  return body === undefined ? facts : { ...facts, request: { ...toFields(facts.request), ...toBody(body) } }
}

const toBody = ({ text, as }: NonNullable<RecordedRun["body"]>): object => {
  if (as === "given") return { "body-raw": text }
  const body = as === "form" ? Object.fromEntries(new URLSearchParams(text)) : as === "json" ? jsonOr(text) : text
  return { body, "body-raw": text }
}

const jsonOr = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const callFunction = async (
  fn: AnyFunction,
  { trigger }: RecordedRun,
  facts: Readonly<Record<string, unknown>>,
  svc: Svc
): Promise<unknown> => {
  const argument = facts[trigger]
  const args = trigger === "args" ? (Array.isArray(argument) ? argument : []) : [argument, svc]
  const value: unknown = await Reflect.apply(fn, undefined, args)
  return trigger === "request" ? (await toReply(value)).result : JSON.parse(jsonText(value))
}

const toEnd = (ending: RunOutcome): Pick<ReplayedRun, "status" | "result"> => {
  if (ending.status === "succeeded") return { status: "succeeded", result: ending.value }
  return { status: ending.status, result: ending.status === "failed" ? { error: toFailure(ending.thrown) } : null }
}

const findDifference = (
  recording: RecordedRun,
  answers: RecordedAnswers,
  { status, result }: Pick<ReplayedRun, "status" | "result">
): string | null => {
  if (recording.truncated === true) return null
  const { redact = [] } = recording
  return (
    answers.findMissing((op) => op === "fetch.send" || op.startsWith("host.") || answered.includes(op)) ??
    describeDifference(recording.status, status, "status", []) ??
    describeDifference(recording.result, result, "result", status === "failed" ? [...redact, "stack"] : redact)
  )
}

/** Returns the contents of files or assets that the run read, by path or name. */
const readContents = ({ calls }: RecordedRun, op: string, key: string): Contents => {
  const contents: Record<string, Uint8Array<ArrayBuffer>> = {}
  for (const call of calls) {
    const { id, [key]: name } = toFields(call.args)
    if (call.op !== op || typeof name !== "string") continue
    const rest = calls.filter(({ op, args }) => op === "content.read" && toFields(args).id === id)
    contents[name] = joinPieces([call, ...rest])
  }
  return contents
}
