/** Other JavaScript runtimes. npm packages contain their programs for the platforms of CI. */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

export interface Runtime {
  readonly name: string
  /** Path of the executable. */
  readonly program: string
  /** Arguments before the script. */
  readonly args: ReadonlyArray<string>
}

const { resolve } = createRequire(import.meta.url)

/** Returns the path of the program, or undefined if its package is not installed on this platform. */
const resolveProgram = (name: string, path: string): string | undefined => {
  try {
    return join(dirname(resolve(`${name}/package.json`)), path)
  } catch {
    return undefined
  }
}

const all = [
  { name: "Bun", program: resolveProgram("@oven/bun-linux-x64", "bin/bun"), args: ["run"] },
  {
    name: "Deno",
    program: resolveProgram("@deno/linux-x64-glibc", "deno"),
    args: ["run", "--no-config", "--no-lock", "--allow-net=127.0.0.1"]
  }
]

export const runtimes: ReadonlyArray<Runtime> = all.flatMap(({ program, ...more }) =>
  program === undefined ? [] : [{ program, ...more }]
)
