/**
 * Processor time that this process has used, in milliseconds: no thread in it has used more. On a machine that has little
 * of it to give, much less than the clock says.
 */
export const processorMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
