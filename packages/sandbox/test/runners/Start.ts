/** Starts the compromised runner in the same way as real runners, and returns its findings. */
import { spawn } from "node:child_process"
import { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { Schema } from "effect"
import { confinedCommand, confinedOptions } from "../../src/supervisor/Confinement.ts"

export const program = new URL("./CompromisedRunner.ts", import.meta.url)

const Found = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite])))

export type Barriers = "all" | "without Node's own"

/** Returns the command, optionally without Node's permission model. */
export const commandOf = (barriers: Barriers): ReadonlyArray<string> =>
  confinedCommand(program, []).filter(
    (part) =>
      barriers === "all" || !(part === "--permission" || part.startsWith("--allow-") || part.startsWith("--dis"))
  )

export const found = async (barriers: Barriers, ...given: ReadonlyArray<string>): Promise<typeof Found.Type> => {
  const [command = "", ...args] = commandOf(barriers)
  const child = spawn(command, [...args, ...given], confinedOptions())
  const said = child.stdio[3]
  if (!(said instanceof Readable) || child.stderr === null) throw new Error("the runner has no socket")
  const [json, complaints] = await Promise.all([text(said), text(child.stderr)])
  if (json === "") throw new Error(`the runner sent nothing; its standard error: ${complaints}`)
  return Schema.decodeUnknownSync(Found)(json)
}
