/** Entry point of the code that runs in an isolate before user code. It is bundled into one script. */
import "./kernel/capabilities.ts"
import { boot as bootKernel, type Kernel } from "./kernel/kernel.ts"
import { install } from "./platform/index.ts"

export const boot = (mark: Int32Array, limits: string, entropy: string): Kernel =>
  bootKernel(install, mark, limits, entropy)
