/** A suite whose contenders are programs. Each starts before its first measurement and runs until the end. */
import type { Contender, OpenSuite } from "../Suite.ts"
import type { Figures } from "./Command.ts"
import { type ProgramProcess, startProgram } from "./ProgramProcess.ts"
import type { Program } from "./Programs.ts"
import { Services, settingsOfServices } from "./Services.ts"

export interface ProgramSuite<Prepared> {
  readonly programs: ReadonlyArray<Program>
  /** Warms a program up, once before its first measurement. */
  readonly prepare: (program: ProgramProcess, contender: Program) => Promise<Prepared>
  readonly measure: (program: ProgramProcess, prepared: Prepared, contender: Program) => Promise<Figures>
  readonly settings: Readonly<Record<string, string>>
}

export const openPrograms = async <Prepared>(suite: ProgramSuite<Prepared>): Promise<OpenSuite> => {
  const services = new Services()
  const running: Array<ProgramProcess> = []
  const settings: Record<string, string> = { ...suite.settings }

  const begin = async (contender: Program) => {
    const { name, file, service, variant } = contender
    const url = service === undefined ? {} : { url: await services.openUrl(service) }
    const program = await startProgram({ file, ...url, ...(variant === undefined ? {} : { variant }) })
    running.push(program)
    if (service !== undefined) settings[service] = settingsOfServices[service]
    settings[name] = Object.entries(program.settings)
      .map(([what, value]) => `${what}: ${value}`)
      .join("; ")
    return { program, prepared: await suite.prepare(program, contender) }
  }

  const makeContender = (program: Program): Contender => {
    let begun: ReturnType<typeof begin> | undefined
    return {
      ...program,
      measure: async () => {
        begun ??= begin(program)
        const started = await begun
        return suite.measure(started.program, started.prepared, program)
      }
    }
  }
  return {
    contenders: suite.programs.map(makeContender),
    settings,
    close: async () => {
      await Promise.all(running.map((program) => program.close()))
      await services.close()
    }
  }
}
