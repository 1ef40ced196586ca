/** Text for the replays of recorded runs. */
import type { Recording } from "@weft/client"
import type { ReplayReport } from "../../hosting/Replayer.ts"
import type { Paint } from "../../output/Paint.ts"
import { printable } from "../../output/Printable.ts"
import { truncate } from "../../output/Table.ts"

/** Maximum columns of a value. */
const valueWidth = 200

type Difference = NonNullable<ReplayReport["difference"]>

/** Returns the first difference on one line: `result.total: 42 → 43`. */
export const differenceText = (difference: Difference): string => printable(describe(difference))

const describe = (difference: Difference): string => {
  if (difference.kind === "result") {
    const { path, recorded, replayed } = difference.at
    return `${path}: ${valueText(recorded)} → ${valueText(replayed)}`
  }
  const { number, recorded, replayed, at } = difference
  const call = `host call ${number}`
  if (recorded === null) return `${call}: the run made no further call → ${replayed?.op ?? "none"}`
  if (replayed === null) return `${call}: ${recorded.op} → the replay made no further call`
  if (at === null) return `${call}: ${recorded.op} → ${replayed.op}`
  return `${call}, ${joinPath(recorded.op, at.path)}: ${valueText(at.recorded)} → ${valueText(at.replayed)}`
}

/** Returns the recorded and the replayed call or result, each on a line. */
export const differenceLines = (difference: Difference, paint: Paint): ReadonlyArray<string> => {
  const [recorded, replayed] =
    difference.kind === "result"
      ? [difference.recorded.result, difference.replayed.result]
      : [callText(difference.recorded), callText(difference.replayed)]
  return [
    `${paint.dim("recorded")} ${printable(shorten(recorded))}`,
    `${paint.dim("replayed")} ${printable(shorten(replayed))}`
  ]
}

const callText = (call: { readonly op: string; readonly args: string } | null): string =>
  call === null ? "no call" : `${call.op} ${call.args}`

const joinPath = (name: string, path: string): string =>
  path === "" ? name : path.startsWith("[") ? `${name}${path}` : `${name}.${path}`

const valueText = (value: unknown): string => (value === undefined ? "missing" : shorten(JSON.stringify(value)))

const shorten = (text: string): string => truncate(text, valueWidth)

/** Returns the name of the recorded function. */
export const functionText = ({ project_name, ns, var: name }: Pick<Recording, "project_name" | "ns" | "var">): string =>
  `${project_name}:${ns}/${name}`
