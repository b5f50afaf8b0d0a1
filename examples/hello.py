"""A task, a job and its result. Run both, in two terminals:

windlass worker hello:app
python hello.py
"""

from windlass import Windlass

app = Windlass()


@app.task
def greet(name: str) -> str:
    return f"Hello, {name}!"


if __name__ == "__main__":
    job = greet.enqueue("Ada")
    print(job.result(timeout=20))
    app.close()
