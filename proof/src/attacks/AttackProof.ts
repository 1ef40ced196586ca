/** All known attacks on the sandbox, repeated in a separate process. */
import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import type { Proof } from "../Proof.ts"

const program = fileURLToPath(new URL("../../../packages/sandbox/test/attacks/main.ts", import.meta.url))

const Result = Schema.fromJsonString(
  Schema.Struct({ counts: Schema.Record(Schema.String, Schema.Finite), failures: Schema.Array(Schema.String) })
)

export const attacksProof: Proof = {
  title: "Attacks on the sandbox",
  does: `Guest code attacks its isolate, the runner process and the host, while a victim in the same runner continues to
make calls. Some attacks are published escapes of vm2 and isolated-vm, adapted to Weft. Others send hostile values over
every border, or replace every built-in by a hostile one before every guest operation. Further programs hang, crash or
exhaust resources. Secrets are placed where an attacker would look, and all output is searched for them.`,
  shows: `every attack ends as expected. No attack forges a frame, or obtains an object of another realm or a secret. The
victim gets its responses meanwhile.`,
  doesNotShow: `a vulnerability in V8 itself. [Security](security.md#defence-in-depth) describes what a compromised runner can
do, with its tests. The longest response time is no benchmark, because the machine had other work.`,
  run: async ({ minutes, progress }) => {
    const child = spawn(process.execPath, ["--conditions=weft-source", program, String(minutes ?? 0)], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    process.once("exit", () => child.kill("SIGKILL"))
    child.stderr.on("data", (bytes: Buffer) => progress(bytes.toString("utf8").trim()))
    // The result is the last line, after the log lines of the sandbox.
    const lines = (await text(child.stdout)).trimEnd().split("\n")
    const { counts, failures } = Schema.decodeUnknownSync(Result)(lines.at(-1))
    return {
      figures: Object.entries(counts),
      failures,
      notes: ["one runner, or two for programs that exhaust resources"]
    }
  }
}
