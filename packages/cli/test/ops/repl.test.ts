/** The loop of `weft repl` on a simulated terminal and session. */

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { assert, describe, it } from "@effect/vitest"
import type { ReplResult } from "@weft/client"
import { Effect } from "effect"
import { type Line, LineReader, type Lines } from "../../src/commands/repl/LineReader.ts"
import { replLoop } from "../../src/commands/repl/ReplLoop.ts"
import { resultText } from "../../src/commands/repl/ResultText.ts"
import { type Failure, failure } from "../../src/Failure.ts"
import { makePaint } from "../../src/output/Paint.ts"

const result = (parts: Partial<ReplResult>): ReplResult => ({
  run_id: "1",
  env_id: "1",
  stream_id: "1",
  project_id: "1",
  build_id: "1",
  run_type: "repl",
  status: "succeeded",
  start_time: "2026-01-31T12:00:00.000Z",
  stop_time: "2026-01-31T12:00:00.000Z",
  result: null,
  cpu_ms: 0,
  wall_ms: 0,
  heap_bytes: 0,
  logs: [],
  text: "",
  ended: null,
  ...parts
})

/** Runs the loop with typed lines; `null` is Ctrl-C. */
const session = Effect.fnUntraced(function* (
  typed: ReadonlyArray<string | null>,
  input: (source: string, lines: Lines) => Effect.Effect<ReplResult, Failure>
) {
  const shown: Array<string> = []
  const prompts: Array<string> = []
  const rest = [...typed]
  const show = (text: string) => Effect.sync(() => void shown.push(text))
  const lines: Lines = {
    isTerminal: true,
    onInterrupt: null,
    next: async (prompt): Promise<Line> => {
      prompts.push(prompt)
      const text = rest.shift()
      return text === undefined ? { kind: "end" } : text === null ? { kind: "interrupt" } : { kind: "line", text }
    },
    close: () => undefined
  }
  yield* replLoop({
    lines,
    session: { input: (source) => input(source, lines) },
    output: {
      json: false,
      paint: makePaint(false),
      columns: Effect.succeed(80),
      print: (_, text) => show(text()),
      line: (_, text) => show(text()),
      note: show,
      status: () => Effect.void
    },
    readFile: (name) => Effect.fail(failure("file", `${name} cannot be read`)),
    onPending: () => undefined
  })
  return { shown, prompts }
})

const echo = (source: string) =>
  source.endsWith("(")
    ? Effect.fail(failure("bad_request", "source: repl.ts:1:2 Unexpected end of the input"))
    : Effect.succeed(result({ text: source }))

describe("weft repl", () => {
  it.effect("continues an unfinished input, and drops it with Ctrl-C or .break", () =>
    Effect.gen(function* () {
      const { shown, prompts } = yield* session(["f(", ")", "g(", null, "h(", ".break", "", "1"], echo)
      assert.deepStrictEqual(shown, ["f(\n)", "1"])
      assert.deepStrictEqual(prompts, ["> ", "... ", "> ", "... ", "> ", "... ", "> ", "> ", "> "])
    })
  )

  it.effect("has commands, and prints failures without an end", () =>
    Effect.gen(function* () {
      const { shown } = yield* session([".help", ".load none.ts", ".unknown", "1", ".exit", "2"], echo)
      assert.include(shown[0], ".load FILE")
      assert.deepStrictEqual(shown.slice(1), ["none.ts cannot be read", "There is no command .unknown: see .help", "1"])
    })
  )

  it.effect("cancels an input with Ctrl-C, and says that a session has ended", () =>
    Effect.gen(function* () {
      const { shown } = yield* session(["slow", "greedy"], (source, lines) =>
        source === "greedy"
          ? Effect.succeed(result({ status: "failed", ended: "an input exceeded the memory of the session" }))
          : Effect.andThen(
              Effect.sync(() => setImmediate(() => lines.onInterrupt?.())),
              Effect.never
            )
      )
      assert.deepStrictEqual(shown, [
        "cancelled",
        "failed",
        "The session has ended with its variables: an input exceeded the memory of the session. The next input opens another."
      ])
    })
  )

  it("colours results by their kind, and escapes control characters", () => {
    const kinds = ["'a'", "1", "10n", "true", "null", "[Function: f]", "{ a: 1 }"].map((text) =>
      resultText(text, makePaint(true)).replace(text, "…").replaceAll("\u001b", "")
    )
    assert.deepStrictEqual(kinds, ["[32m…[39m", "[33m…[39m", "[33m…[39m", "[33m…[39m", "[2m…[22m", "[36m…[39m", "…"])
    assert.notInclude(resultText("'\u001b[2J'", makePaint(false)), "\u001b")
  })

  it("completes and keeps its history in a file for its owner only", async () => {
    const folder = mkdtempSync(join(tmpdir(), "weft-repl-"))
    const historyFile = join(folder, "repl-history")
    const input = new PassThrough()
    const reader = new LineReader({
      input,
      output: new PassThrough(),
      isTerminal: true,
      historyFile,
      complete: async (line) => [[`${line}tal`], line]
    })
    const line = reader.next("> ")
    input.write("to\t")
    await new Promise((resolve) => setImmediate(resolve))
    input.write("\r")
    assert.deepStrictEqual(await line, { kind: "line", text: "total" })
    assert.strictEqual(readFileSync(historyFile, "utf8"), "total\n")
    assert.strictEqual(statSync(historyFile).mode & 0o777, 0o600)
    reader.close()
    assert.deepStrictEqual(await reader.next("> "), { kind: "end" })
    rmSync(folder, { recursive: true })
  })
})
