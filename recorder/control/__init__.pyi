from .control_page import ControlPage as ControlPage
