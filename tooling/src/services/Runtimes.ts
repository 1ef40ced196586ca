/** Other runtimes of JavaScript. Their programs come as packages, for the platforms that tests are run on. */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

export interface Runtime {
  readonly name: string
  /** Where it is. */
  readonly program: string
  /** Before the script. */
  readonly args: ReadonlyArray<string>
}

const { resolve } = createRequire(import.meta.url)

/** Undefined on other platforms. */
const programIn = (name: string, path: string): string | undefined => {
  try {
    return join(dirname(resolve(`${name}/package.json`)), path)
  } catch {
    return undefined
  }
}

const all = [
  { name: "Bun", program: programIn("@oven/bun-linux-x64", "bin/bun"), args: ["run"] },
  {
    name: "Deno",
    program: programIn("@deno/linux-x64-glibc", "deno"),
    args: ["run", "--no-config", "--no-lock", "--allow-net=127.0.0.1"]
  }
]

export const runtimes: ReadonlyArray<Runtime> = all.flatMap(({ program, ...more }) =>
  program === undefined ? [] : [{ program, ...more }]
)
