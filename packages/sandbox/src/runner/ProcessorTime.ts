/**
 * Returns the processor time of this process, in milliseconds. No thread has used more, and on a busy machine it is much
 * less than the elapsed time.
 */
export const processorMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
