/** Starts the runner that was taken over as runners are started, and says what it found. */
import { spawn } from "node:child_process"
import { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { Schema } from "effect"
import { confined, confinedOptions } from "../../src/supervisor/Confinement.ts"

export const program = new URL("./TakenOver.ts", import.meta.url)

const Found = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite])))

export type Barriers = "all" | "without Node's own"

/** The command, without Node's own barrier if that is asked for. */
export const commandOf = (barriers: Barriers): ReadonlyArray<string> =>
  confined(program, []).filter(
    (part) =>
      barriers === "all" || !(part === "--permission" || part.startsWith("--allow-") || part.startsWith("--dis"))
  )

export const found = async (barriers: Barriers, ...given: ReadonlyArray<string>): Promise<typeof Found.Type> => {
  const [command = "", ...args] = commandOf(barriers)
  const child = spawn(command, [...args, ...given], confinedOptions())
  const said = child.stdio[3]
  if (!(said instanceof Readable) || child.stderr === null) throw new Error("it has no socket")
  const [json, complaints] = await Promise.all([text(said), text(child.stderr)])
  if (json === "") throw new Error(`it said nothing: ${complaints}`)
  return Schema.decodeUnknownSync(Found)(json)
}
