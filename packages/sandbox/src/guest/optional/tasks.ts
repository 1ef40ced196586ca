/** Tasks of the current run, in order. One timer runs all tasks that wait, so a flood of messages needs no more timers. */
const { isPending, startTimer } = platform.timers()
const { report } = platform.report()

export class TaskQueue {
  #tasks: Array<() => void> = []
  #timer: number | null = null

  add(task: () => void): void {
    this.#tasks.push(task)
    // The end of a run drops its timers; another run may use the same queue.
    if (this.#timer === null || !isPending(this.#timer)) {
      this.#timer = startTimer(() => this.#run(), 0)
    }
  }

  #run(): void {
    const tasks = this.#tasks
    this.#tasks = []
    this.#timer = null
    for (const task of tasks) {
      try {
        task()
      } catch (error) {
        report(error)
      }
    }
  }
}
