/** `console`: formats and writes to the log of the current run. */

import { host } from "./host.ts"
import { inspect } from "./inspect.ts"

type Level = "debug" | "info" | "warn" | "error"
type Args = ReadonlyArray<unknown>

/** Maximum labels of `count` and of `time`; beyond it, the oldest is removed. */
const labelsMax = 1000

let indentation = ""
const counts = new Map<string, number>()
const starts = new Map<string, number>()

const write = (level: Level, text: string): void => {
  host().log(level, indentation === "" ? text : indentation + text.replace(/\n/g, `\n${indentation}`), null)
}

const remember = <A>(labels: Map<string, A>, label: string, value: A): void => {
  const oldest = labels.keys().next()
  if (labels.size >= labelsMax && !labels.has(label) && oldest.done !== true) {
    labels.delete(oldest.value)
  }
  labels.set(label, value)
}

const show = (value: unknown): string => (typeof value === "string" ? value : inspect(value))

const integer = (value: unknown): string => (isNumeric(value) ? String(Number.parseInt(String(value), 10)) : "NaN")
const isNumeric = (value: unknown): boolean => typeof value !== "symbol" && typeof value !== "object"

const conversions: Readonly<Record<string, (value: unknown) => string>> = {
  s: (value) =>
    typeof value === "object" && value !== null
      ? inspect(value, 0)
      : typeof value === "bigint"
        ? `${value}n`
        : Object.is(value, -0)
          ? "-0"
          : String(value),
  d: (value) => (typeof value === "bigint" ? `${value}n` : isNumeric(value) ? String(Number(value)) : "NaN"),
  i: (value) => (typeof value === "bigint" ? `${value}n` : integer(value)),
  f: (value) => (typeof value === "symbol" ? "NaN" : String(Number.parseFloat(String(value)))),
  j: (value) => {
    try {
      return String(JSON.stringify(value))
    } catch {
      return "[Circular]"
    }
  },
  o: (value) => inspect(value),
  O: (value) => inspect(value),
  c: () => ""
}

/** Formats the arguments as one text. Directives in a first string format the next ones. */
export const format = (args: Args): string => {
  const [first, ...rest] = args
  if (typeof first !== "string") {
    return args.map(show).join(" ")
  }
  let next = 0
  const head = first.replace(/%([sdifjoOc%])/g, (directive, kind: string) => {
    if (kind === "%") {
      return args.length > 1 ? "%" : directive
    }
    const conversion = conversions[kind]
    return next < rest.length && conversion !== undefined ? conversion(rest[next++]) : directive
  })
  return [head, ...rest.slice(next).map(show)].join(" ")
}

const toLabel = (label: unknown): string => (label === undefined ? "default" : String(label))

const elapsed = (label: string): string | null => {
  const start = starts.get(label)
  return start === undefined ? null : `${label}: ${host().now() - start}ms`
}

const cell = (value: unknown): string => inspect(value, 0).replace(/\n\s*/g, " ")

const isIndexable = (value: unknown): value is object => typeof value === "object" && value !== null

/** Formats a table as plain text. */
const tableText = (data: object, only: ReadonlyArray<string> | undefined): string => {
  const rows = data instanceof Map ? [...data] : Object.entries(data)
  const found = rows.flatMap(([, row]) => (isIndexable(row) ? Object.keys(row) : []))
  const columns = only ?? [...new Set(found)]
  const hasValues = rows.some(([, row]) => !isIndexable(row))
  const header = ["(index)", ...columns, ...(hasValues ? ["Values"] : [])]
  const body = rows.map(([index, row]) => [
    String(index),
    ...columns.map((column) => (isIndexable(row) && Object.hasOwn(row, column) ? cell(Reflect.get(row, column)) : "")),
    ...(hasValues ? [isIndexable(row) ? "" : cell(row)] : [])
  ])
  const widths = header.map((title, at) => Math.max(title.length, ...body.map((row) => row[at]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>) => cells.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")
  const rule = widths.map((width) => "-".repeat(width)).join("-+-")
  return [line(header), rule, ...body.map(line)].map((text) => text.trimEnd()).join("\n")
}

export const console = {
  log: (...args: Args): void => write("info", format(args)),
  info: (...args: Args): void => write("info", format(args)),
  debug: (...args: Args): void => write("debug", format(args)),
  warn: (...args: Args): void => write("warn", format(args)),
  error: (...args: Args): void => write("error", format(args)),
  dir: (value: unknown = undefined, options: { readonly depth?: number | null } | undefined = undefined): void =>
    write("info", inspect(value, options?.depth === null ? Number.POSITIVE_INFINITY : options?.depth)),
  dirxml: (...args: Args): void => write("info", format(args)),
  trace: (...args: Args): void => {
    // Without the message and the frame of this function.
    const callers = (new Error().stack ?? "").split("\n").slice(2)
    write("debug", [`Trace${args.length === 0 ? "" : `: ${format(args)}`}`, ...callers].join("\n"))
  },
  assert: (condition: unknown = false, ...args: Args): void => {
    if (!condition) {
      write("error", args.length === 0 ? "Assertion failed" : `Assertion failed: ${format(args)}`)
    }
  },
  table: (data: unknown = undefined, columns: ReadonlyArray<string> | undefined = undefined): void =>
    write("info", isIndexable(data) ? tableText(data, columns) : format([data])),
  count: (label: unknown = undefined): void => {
    const name = toLabel(label)
    remember(counts, name, (counts.get(name) ?? 0) + 1)
    write("info", `${name}: ${counts.get(name)}`)
  },
  countReset: (label: unknown = undefined): void => {
    counts.delete(toLabel(label))
  },
  time: (label: unknown = undefined): void => {
    const name = toLabel(label)
    if (starts.has(name)) {
      write("warn", `Timer '${name}' already exists`)
    } else {
      remember(starts, name, host().now())
    }
  },
  timeLog: (label: unknown = undefined, ...args: Args): void => {
    const name = toLabel(label)
    const text = elapsed(name)
    write(text === null ? "warn" : "info", text === null ? `Timer '${name}' does not exist` : format([text, ...args]))
  },
  timeEnd: (label: unknown = undefined): void => {
    console.timeLog(label)
    starts.delete(toLabel(label))
  },
  group: (...args: Args): void => {
    if (args.length > 0) {
      write("info", format(args))
    }
    // Limited, so that a run that never ends its groups does not make every line longer.
    indentation = indentation.length < 40 ? `${indentation}  ` : indentation
  },
  groupCollapsed: (...args: Args): void => console.group(...args),
  groupEnd: (): void => {
    indentation = indentation.slice(2)
  },
  clear: (): void => {}
}

// A namespace of Web IDL has a prototype of its own.
Object.setPrototypeOf(console, {})
Object.defineProperty(console, Symbol.toStringTag, { value: "console", configurable: true })
