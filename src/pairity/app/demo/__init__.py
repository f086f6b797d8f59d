"""The main job on embedded real data, step by step.

``tasks`` loads and splits without leaks, ``evaluate`` fits, measures, prints and writes files.
"""

from pairity.app.demo.evaluate import Outcome, evaluate
from pairity.app.demo.tasks import Task, digit_task, train_choice_task

__all__ = ["Outcome", "Task", "digit_task", "evaluate", "train_choice_task"]
