"""A runtime that lets its workers work in reverse order, in the thread of the learner."""


def count_workers(algorithm, wanted):
    return algorithm.count_workers(wanted, 1)


def open_source(job):
    return Backwards(job)


class Backwards:
    def __init__(self, job):
        self.job = job
        self.workers = [job.worker(number) for number in range(job.workers)]

    def __iter__(self):
        while True:
            yield [worker.work() for worker in reversed(self.workers)][::-1]

    def publish(self, params, version):
        for worker in self.workers:
            worker.publish(params, version)

    def state(self):
        return {f"worker_{number}": worker.state() for number, worker in enumerate(self.workers)}

    def restore(self, state):
        for number, worker in enumerate(self.workers):
            worker.restore(state[f"worker_{number}"])

    def agree(self, *flags):
        return flags

    def close(self):
        for worker in self.workers:
            worker.close()
