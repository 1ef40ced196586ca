/** Source locations of calls, from stack traces. */

/** The folder of the test kit. */
const own = new URL("..", import.meta.url).href

const frame = /\(?((?:file:\/\/)?\/?[^\s()]+):(\d+):(\d+)\)?$/

/** Returns file and line of a call, relative to the working folder; null if unknown. */
export type CallSite = () => string | null

/** Returns the place of the code that called the test kit. It is read at the first use, because that takes time. */
export const callSite = (): CallSite => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 40
  const error = new Error()
  Error.stackTraceLimit = limit
  let place: string | null | undefined
  return () => {
    if (place === undefined) place = findPlace(error)
    return place
  }
}

/** Returns a place in parentheses, for the end of a text. */
export const formatPlace = (place: string | null): string => (place === null ? "" : ` (${place})`)

const findPlace = ({ stack = "" }: Error): string | null => {
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
