/** Runners fit into the memory of a container. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, assert, describe, it } from "vitest"
import { type Machine, sizeRunners, thisMachine } from "../src/supervisor/RunnerSizing.ts"

const MiB = 1024 * 1024
const isolateBytes = 192 * MiB
const program = fileURLToPath(new URL("./sizing/printMachine.ts", import.meta.url))
const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]

const folders: Array<string> = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/**
 * Returns the machine that a process sees whose control groups are `groups` (`/proc/self/cgroup`) with these files below
 * `/sys/fs/cgroup`. The files are mounted for that process alone.
 */
const machineIn = (groups: string, files: Readonly<Record<string, string>>): Machine => {
  const folder = mkdtempSync(join(tmpdir(), "weft-cgroup-"))
  folders.push(folder)
  const list = join(folder, "cgroup")
  writeFileSync(list, groups)
  const tree = join(folder, "tree")
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, name)), { recursive: true })
    writeFileSync(join(tree, name), text)
  }
  const script = 'mount --bind "$1" /sys/fs/cgroup && mount --bind "$2" /proc/$$/cgroup && shift 2 && exec "$@"'
  const node = [process.execPath, "--conditions=weft-source", program]
  const args = [...asRoot, "--mount", "sh", "-c", script, "sh", tree, list, ...node]
  return JSON.parse(execFileSync("unshare", args, { encoding: "utf8" }))
}

describe("the memory of a container", () => {
  it("is the limit of its control group, version 2", () => {
    const { memoryBytes } = machineIn("0::/pod/weft\n", {
      "pod/weft/memory.max": `${700 * MiB}\n`,
      "pod/weft/memory.high": "max\n"
    })
    assert.strictEqual(memoryBytes, 700 * MiB)
  })

  it("is the limit of its control group, version 1", () => {
    const { memoryBytes } = machineIn("4:memory:/docker/weft\n1:cpu:/docker/weft\n0::/\n", {
      "memory/docker/weft/memory.limit_in_bytes": `${900 * MiB}\n`,
      "memory/docker/weft/memory.soft_limit_in_bytes": "9223372036854771712\n"
    })
    assert.strictEqual(memoryBytes, 900 * MiB)
  })

  it("is that of the machine without a limit", () => {
    assert.strictEqual(
      machineIn("0::/weft\n", { "weft/memory.max": "max\n", "weft/memory.high": "max\n" }).memoryBytes,
      totalmem()
    )
    assert.isAtMost(thisMachine().memoryBytes, totalmem())
    assert.include(readFileSync("/proc/self/cgroup", "utf8"), ":")
  })
})

describe("the runners of a sandbox", () => {
  it("have at most three quarters of the memory together, whatever its size and the number of processors", () => {
    for (const memoryMiB of [256, 512, 700, 1024, 2048, 4096, 8192, 65_536]) {
      for (const processors of [1, 2, 4, 16, 64]) {
        const { runners, rssBytes } = sizeRunners({ isolateBytes }, { processors, memoryBytes: memoryMiB * MiB })
        const label = `${memoryMiB} MiB, ${processors} processors: ${runners} runners of ${rssBytes / MiB} MiB`
        assert.isAtMost(runners * rssBytes, memoryMiB * MiB * 0.75, label)
        assert.isAtMost(runners, Math.max(2, processors), label)
        assert.isTrue(runners === 1 || rssBytes > isolateBytes, label)
      }
    }
  })

  it("keep their sizes where memory is plentiful", () => {
    const sizes = (processors: number, gibibytes: number) =>
      sizeRunners({ isolateBytes }, { processors, memoryBytes: gibibytes * 1024 * MiB })
    assert.deepStrictEqual(sizes(2, 4), { runners: 2, rssBytes: 1024 * MiB })
    assert.deepStrictEqual(sizes(2, 24), { runners: 2, rssBytes: 3072 * MiB })
    assert.deepStrictEqual(sizes(8, 256), { runners: 8, rssBytes: 4096 * MiB })
  })

  it("have the sizes that the operator sets", () => {
    const machine = { processors: 4, memoryBytes: 1024 * MiB }
    const set = { runners: 3, rssBytes: 2048 * MiB }
    assert.deepStrictEqual(sizeRunners({ ...set, isolateBytes }, machine), set)
    assert.strictEqual(sizeRunners({ rssBytes: 300 * MiB, isolateBytes }, machine).runners, 4)
    assert.strictEqual(sizeRunners({ runners: 3, isolateBytes }, machine).rssBytes, 256 * MiB)
  })
})
