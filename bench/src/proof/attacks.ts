/** Every attack on the sandbox that is known, over and over, in a process of its own. */
import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import type { Proof } from "./Proof.ts"

const program = fileURLToPath(new URL("../../../packages/sandbox/test/attacks/main.ts", import.meta.url))

const Result = Schema.fromJsonString(
  Schema.Struct({ counts: Schema.Record(Schema.String, Schema.Finite), failures: Schema.Array(Schema.String) })
)

export const attacksProof: Proof = {
  title: "Attacks on the sandbox",
  does: `Guest code attacks the isolate it is in, the runner process and the host, while a victim in the same runner goes
on calling. Published escapes of vm2 and isolated-vm as they would be tried here; hostile values at every place where a
value crosses; every built-in replaced by one that lies, and then everything done that a guest can do; programs that hang,
crash or starve whatever runs them. Secrets are put where an attacker would look for them, and everything that comes out
is searched for them.`,
  shows: `that each ends as it must, that no frame is forged, no object of another realm and no secret is got hold of, and
that the victim is answered meanwhile.`,
  doesNotShow: `a hole in V8 itself: what a runner can do that was taken over is in [Security](security.md#when-the-engine-fails),
with the tests of it. It is no measure of speed: the longest wait is that of a machine which does other things, too.`,
  run: async ({ minutes, progress }) => {
    const child = spawn(process.execPath, ["--conditions=weft-source", program, String(minutes ?? 0)], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    process.once("exit", () => child.kill("SIGKILL"))
    child.stderr.on("data", (said: Buffer) => progress(said.toString("utf8").trim()))
    // The last line; before it is what the sandbox has to say of its runners.
    const lines = (await text(child.stdout)).trimEnd().split("\n")
    const { counts, failures } = Schema.decodeUnknownSync(Result)(lines.at(-1))
    return { figures: Object.entries(counts), failures, notes: ["one runner, or two for the shapes"] }
  }
}
