/** The difference between the capabilities of two builds as lines for people. */
import type { Capabilities } from "@weft/client"
import type { Paint } from "../output/Paint.ts"

const labels = {
  hosts: "host",
  host_functions: "host function",
  secrets: "secret",
  files: "files",
  publishes: "publishes"
} as const

/** The kinds that the code uses. Triggers are a part of the changes of entry points. */
const kinds = ["hosts", "host_functions", "secrets", "files", "publishes"] as const

/** Returns a line for each capability that was added or removed. */
export const capabilityLines = (added: Capabilities, removed: Capabilities, paint: Paint): ReadonlyArray<string> =>
  kinds.flatMap((kind) => [
    ...added[kind].map((name) => `  ${paint.green("+")} ${labels[kind]} ${describe(name)}`),
    ...removed[kind].map((name) => `  ${paint.red("-")} ${labels[kind]} ${describe(name)}`)
  ])

const describe = (name: string): string => (name === "*" ? "with a name that the code computes" : name)

/** True if the code uses something that the other build did not use. */
export const hasAdded = (added: Capabilities): boolean => kinds.some((kind) => added[kind].length > 0)
