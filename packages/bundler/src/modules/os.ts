/** `node:os`: the constants of a machine without details. */
import { constants } from "unenv/node/os"
import { refuse } from "./refuse.ts"

export { constants }
export const EOL = "\n"
export const devNull = "/dev/null"
export const arch = (): string => "x64"
export const machine = (): string => "x86_64"
export const platform = (): string => "linux"
export const type = (): string => "Linux"
export const release = (): string => "6.0.0"
export const version = (): string => "#1"
export const endianness = (): string => "LE"
export const hostname = (): string => "localhost"
export const homedir = (): string => "/tmp"
export const tmpdir = (): string => "/tmp"
export const availableParallelism = (): number => 1
export const cpus = () => [{ model: "", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }]
export const totalmem = (): number => 128 * 1024 * 1024
export const freemem = (): number => 64 * 1024 * 1024
export const loadavg = (): ReadonlyArray<number> => [0, 0, 0]
export const uptime = (): number => performance.now() / 1000
export const networkInterfaces = () => ({})
export const userInfo = () => ({ uid: 1000, gid: 1000, username: "weft", homedir: "/tmp", shell: null })
export const getPriority = (): number => 0
export const setPriority = refuse("os.setPriority")

import * as all from "./os.ts"
export default /* @__PURE__ */ Object.assign({}, all)
