/** Source locations of calls, from stack traces. */

/** The folder of the test kit. */
const own = new URL("..", import.meta.url).href

const frame = /\(?((?:file:\/\/)?\/?[^\s()]+):(\d+):(\d+)\)?$/

/** Returns file and line of the code that called the test kit, relative to the working folder; null if unknown. */
export const callSite = (): string | null => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 40
  const { stack = "" } = new Error()
  Error.stackTraceLimit = limit
  const frames = stack.split("\n").slice(1).flatMap(readFrame)
  const [first] = frames
  const chosen = frames.find(({ url }) => !url.includes("/node_modules/")) ?? first
  return chosen === undefined ? null : `${relative(chosen.url)}:${chosen.line}`
}

const readFrame = (text: string) => {
  const [, file = "", line = ""] = frame.exec(text.trim()) ?? []
  const url = file.startsWith("/") ? `file://${file}` : file
  return !url.startsWith("file://") || url.startsWith(own) ? [] : [{ url: url.split("?")[0] ?? "", line }]
}

const relative = (url: string): string => {
  const base = `file://${process.cwd()}/`
  return url.startsWith(base) ? url.slice(base.length) : url.slice("file://".length)
}
