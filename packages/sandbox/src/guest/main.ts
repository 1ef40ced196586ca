/** Everything that runs in an isolate before user code does. Bundled into one script when a supervisor starts. */
import "./kernel/capabilities.ts"
import { boot as bootKernel, type Kernel } from "./kernel/kernel.ts"
import { install } from "./platform/index.ts"

export const boot = (mark: Int32Array, limits: string, entropy: string): Kernel =>
  bootKernel(install, mark, limits, entropy)
