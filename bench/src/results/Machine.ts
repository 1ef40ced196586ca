/** The machine of a measurement, without anything that identifies it. */
import { cpus, release, totalmem } from "node:os"

export interface Machine {
  readonly node: string
  readonly processors: string
  readonly memoryGiB: number
  readonly kernel: string
}

export const thisMachine = (): Machine => ({
  node: process.version.slice(1),
  processors: `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  kernel: `${process.platform} ${release().split("-")[0]}`
})

export const machineText = ({ node, processors, memoryGiB, kernel }: Machine): string =>
  `Node ${node}, ${processors}, ${memoryGiB} GiB, ${kernel}`
