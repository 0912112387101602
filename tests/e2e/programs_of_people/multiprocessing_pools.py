import multiprocessing
class Task:
    def __init__(self, number):
        self.number = number
def work(task):
    return task.number**2, __name__
if __name__ == "__main__":
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            print("RESULT", way, pool.map(work, [Task(number) for number in range(4)]))
