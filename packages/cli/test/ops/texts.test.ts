/** Formatting of output and parsing of input, without a server. */
import { assert, describe, it } from "@effect/vitest"
import type { Run } from "@weft/client"
import { Option, Result } from "effect"
import { CliOutput } from "effect/cli"
import * as fc from "fast-check"
import { getContentType } from "../../src/commands/files/ContentTypes.ts"
import { endText, entryText } from "../../src/commands/logs/LogText.ts"
import { errorLines, readError, runText } from "../../src/commands/runs/RunText.ts"
import { parseDuration } from "../../src/input/Duration.ts"
import { parseJsonText } from "../../src/input/JsonText.ts"
import { parsePeriod } from "../../src/input/Period.ts"
import { formatPermissions, parsePermissions } from "../../src/input/Permissions.ts"
import { makePaint } from "../../src/output/Paint.ts"
import { progressLine } from "../../src/output/ProgressLine.ts"
import { bytes } from "../../src/output/Sizes.ts"
import { type Column, fieldLines, tableLines, truncate } from "../../src/output/Table.ts"
import { duration } from "../../src/output/Times.ts"

const plain = makePaint(false)

interface Row {
  readonly id: string
  readonly name: string
  readonly note: string
}

const columns: ReadonlyArray<Column<Row>> = [
  { title: "ID", of: (row) => row.id },
  { title: "NAME", of: (row) => row.name, isFlexible: true },
  { title: "NOTE", of: (row) => row.note, isFlexible: true, isExtra: true }
]

const rows = fc.array(fc.record({ id: fc.uuid(), name: fc.string({ unit: "grapheme" }), note: fc.string() }), {
  maxLength: 5
})

describe("a run", () => {
  it("shows its event, or all events of its batch", () => {
    const id = "01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e"
    const run: Run = {
      ...{ run_id: id, env_id: id, stream_id: id, build_id: id, project_id: id, project_name: "shop" },
      ...{ run_type: "event", status: "running", start_time: "2026-01-31T12:00:00.000Z", stop_time: null },
      ...{ origin_run_id: null, event_id: "e-1", result: null }
    }
    const usage = { ns: "main", var: "load", attempt: 1, cpu_ms: null, wall_ms: null, heap_bytes: null }
    assert.match(runText(run, usage, plain), /^event +e-1$/m)
    assert.match(runText({ ...run, event_ids: ["e-1", "e-2"] }, usage, plain), /^events \(2\) +e-1\n +e-2$/m)
  })
})

describe("tables", () => {
  it("align columns with their titles, and truncate only tables that are too wide", () => {
    const row = { id: "0123", name: "a long name of something", note: "a note that is longer still" }
    assert.deepStrictEqual(tableLines(columns, [row], Number.POSITIVE_INFINITY), [
      "ID    NAME                      NOTE",
      "0123  a long name of something  a note that is longer still"
    ])
    assert.deepStrictEqual(tableLines(columns, [row], 40), [
      "ID    NAME              NOTE",
      "0123  a long name of …  a note that is …"
    ])
    assert.deepStrictEqual(tableLines(columns, [row], 20), ["ID    NAME", "0123  a long name o…"])
    assert.deepStrictEqual(tableLines(columns, [], 80), ["ID  NAME  NOTE"])
  })

  it("fit the width with any content, without truncating ids", () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 46, max: 200 }), (records, width) => {
        const lines = tableLines(columns, records, width)
        assert.lengthOf(lines, records.length + 1)
        for (const line of lines) {
          assert.isAtMost(CliOutput.displayWidth(line), width)
          assert.notMatch(line, /[\p{Cc}\n]/u)
        }
        for (const [at, { id }] of records.entries()) assert.isTrue(lines[at + 1]?.startsWith(id))
      })
    )
  })

  it("truncate any text to the given number of columns", () => {
    assert.strictEqual(truncate("naïve", 5), "naïve")
    assert.strictEqual(truncate("日本語", 5), "日本…")
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, width) => {
        assert.isAtMost(CliOutput.displayWidth(truncate(text, width)), width)
      })
    )
  })

  it("show one line per field of a record", () => {
    assert.deepStrictEqual(
      fieldLines([
        ["run", "1"],
        ["function", "a\nb"]
      ]),
      ["run       1", "function  a⏎b"]
    )
  })
})

describe("figures", () => {
  it("have readable units", () => {
    assert.deepStrictEqual([0, 999, 1000, 1500, 99_950, 20_000_000, 4e12].map(bytes), [
      "0 B",
      "999 B",
      "1 kB",
      "1.5 kB",
      "100 kB",
      "20 MB",
      "4 TB"
    ])
    assert.deepStrictEqual([0, 999, 1200, 59_999, 61_000, 3_600_000].map(duration), [
      "0 ms",
      "999 ms",
      "1.20 s",
      "60.00 s",
      "1 min 1 s",
      "1 h 0 min"
    ])
  })

  it("of progress show amount, rate and time left", () => {
    const progress = { label: "launch.mp4", done: 25e6, before: 0, total: 100e6, elapsedMs: 5_000 }
    assert.strictEqual(
      progressLine(progress, 100),
      "launch.mp4  [#####---------------]  25%  25 MB of 100 MB  5 MB/s  00:15 left"
    )
    assert.include(progressLine({ ...progress, before: 20e6 }, 100), "1 MB/s  01:15 left")
    assert.strictEqual(progressLine({ ...progress, total: null }, 100), "launch.mp4  25 MB  5 MB/s")
    assert.include(progressLine({ ...progress, done: 100e6 }, 100), "100%  100 MB of 100 MB  20 MB/s")
    assert.include(progressLine({ ...progress, done: 0, total: 0, elapsedMs: 0 }, 100), "100%  0 B of 0 B  0 B/s")
  })

  it("of progress fit on one line", () => {
    const amounts = fc.integer({ min: 0, max: 1e12 })
    fc.assert(
      fc.property(fc.string(), amounts, amounts, fc.integer({ min: 20, max: 200 }), (label, done, more, width) => {
        const line = progressLine({ label, done, before: 0, total: done + more, elapsedMs: 1234 }, width)
        assert.isAtMost(CliOutput.displayWidth(line), width)
      })
    )
  })
})

describe("input parsers", () => {
  it("accept JSON, and suggest quotes for plain text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        assert.deepStrictEqual(JSON.stringify(Result.getOrThrow(parseJsonText(text))), JSON.stringify(JSON.parse(text)))
      })
    )
    const remedyOf = (text: string) =>
      Result.match(parseJsonText(text), { onSuccess: () => "", onFailure: (no) => no.remedy })
    assert.strictEqual(remedyOf("hello"), `for text, write '"hello"'`)
    assert.isNull(remedyOf('{"a": 1,}'))
    assert.isNull(remedyOf("it's"))
  })

  it("accept durations and periods", () => {
    assert.deepStrictEqual(
      ["90s", "15m", "12h", "30d", "7"].map(parseDuration).map(Option.getOrNull),
      [90, 900, 43_200, 2_592_000, 7]
    )
    assert.deepStrictEqual(["", "0s", "-1s", "1.5h", "soon", "constructor"].map(parseDuration).map(Option.getOrNull), [
      null,
      null,
      null,
      null,
      null,
      null
    ])
    assert.strictEqual(Option.getOrNull(parsePeriod("24h")), "PT86400S")
    assert.strictEqual(Option.getOrNull(parsePeriod("P7D")), "P7D")
  })

  it("parse formatted permissions into equal permissions", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9:*/-]{0,12}$/)
    const actions = fc.uniqueArray(fc.constantFrom("create", "read", "update", "*"), { minLength: 1 })
    const maps = fc.dictionary(
      fc.tuple(name, name).map(([type, path]) => `${type}:${path}`),
      actions
    )
    fc.assert(
      fc.property(maps, (map) => {
        assert.deepStrictEqual(Result.getOrThrow(parsePermissions(formatPermissions(map))), { ...map })
      })
    )
    assert.deepStrictEqual(Result.getOrThrow(parsePermissions(["run:*=read", "run:*=read,create"])), {
      "run:*": ["read", "create"]
    })
    for (const rule of ["run:*", "run=read", "=read", "run:*=", "run:*=read,"]) {
      assert.isTrue(Result.isFailure(parsePermissions([rule])), rule)
    }
  })
})

describe("output of functions", () => {
  const entry = {
    seq: 0,
    time: "2026-01-31T12:00:00.042Z",
    level: "warn",
    message: "two\nlines\u001b[2J",
    data: null
  } as const

  it("is indented and contains no control characters", () => {
    const text = entryText({ ...entry, data: { a: "\u009b" } }, plain, "main/f")
    assert.match(text, /^\d\d:\d\d:00\.042 main\/f warn {2}two\n {2}lines.\[2J \{"a":".+"\}$/)
    assert.notMatch(text.replaceAll("\n", ""), /\p{Cc}/u)
  })

  it("ends with the error, without repeating its message", () => {
    const stack = "RangeError: no rate\n    at f (src/f.ts:1:2)\n"
    const error = { name: "RangeError", message: "no rate", stack }
    assert.deepStrictEqual(errorLines(error, plain), ["RangeError: no rate", "  at f (src/f.ts:1:2)"])
    assert.isNull(readError({ error: "text" }))
    assert.isNull(readError(null))
    const run: Run = {
      run_id: "r",
      env_id: "e",
      stream_id: "s",
      build_id: "b",
      run_type: "call",
      status: "failed",
      start_time: entry.time,
      stop_time: "2026-01-31T12:00:00.100Z",
      origin_run_id: null,
      event_id: null,
      result: { error },
      project_id: "p",
      project_name: "shop"
    }
    assert.match(endText(run, plain, "main/f"), / main\/f failed in 58 ms {2}r\n {2}RangeError: no rate\n {4}at f/)
  })
})

describe("content types", () => {
  it("follow from file name extensions", () => {
    assert.deepStrictEqual(
      ["a/b.JSON", "page.html", "archive.tar.gz", "Makefile", ".json", "x.unknown"].map(getContentType),
      [
        "application/json",
        "text/html",
        "application/gzip",
        "application/octet-stream",
        "application/octet-stream",
        "application/octet-stream"
      ]
    )
  })
})
